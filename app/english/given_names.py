"""Given names that say whether `he` or `she` is meant; most names don't, and people do not always go by theirs.

Derived from the counts that come with nomquamgender 0.1.4 (I. Van Buskirk, A. Clauset, D. Larremore, 2022; MIT
licence): names in at least 18 of its 36 national sources and of at least 2,000 people, 97 in 100 of whom are of one
gender. Names that are also common words, months, places or products are left out.
"""

from __future__ import annotations

_MEN = """
aamir aaron abbas abd abdallah abdel abdelaziz abdelkader abdellah abdi abdirahman abdou abdoul abdulaziz abdulkadir
abdullah abdullahi abdulrahman abdurrahman abe abel abhinav abner abraham abram abu ace achille achilles adam adem adil
adin aditya adnan adolf adolfo adonis adriano aedan agim agostino agustin ahmad ahmed ahmet aitor ajay akash akil akim
akos aksel akshay alain alan alasdair alastair alban albert alberto albin alden aldo alec alejandro aleksandar
aleksander aleksandr aleksej aleksi alessandro alessio alexander alexandro alexandros alexandru alexei alexey alf
alfons alfonso alfred alfredo alistair alister allan almir alois alonso alonzo aloysius alper alphonse alton alvar
alvaro alvin alwin amadeo amadou amaury ambrose ameer amer amin amir amjad ammar amos anand anatole anderson andras
andre andreas andrej andres andrew andrey andrius andriy andrzej angelo anil anish anselmo antero anthony antoine anton
antoni antonin antonino antonio antonius antony anwar aras archibald archie arif arik aristide arjan arjun arlo armaan
arman armand armando armen armin arnaldo arnaud arnav arne arno arnold aron arran arron artem arthur arto artur arturo
arun arvid arvin asad asher ashwin asim aslan asser athanasios attilio augustin augusto augustus aurelio avi avraham
axel ayaz ayden aydin aymen ayrton ayub azad aziz balazs baris barnabas barnaby barney barry bart bartosz bastien
batuhan bayram bekir ben bence benedetto benedict benedikt bengt benito benjamin bennett benoit benson benton berat
bernard bernardo bernd bernhard bert bertram bertrand bilal billy birger bjarne bjorn blaine boaz bob bogdan bohdan
boris boyd brad braden bradford bradley brady brahim bram brandan branden brandon branko brayan brayden brendan brenden
brendon brent bret brian brock bronson bruce bruno bryan bryant bryson burak burhan burt burton buster byron caesar
cain cale caleb callum calum calvin camillo camilo caner carl carlo carlos carlton carmelo carsten casimir caspar
cassius cathal cedric celestin cem cesar cesare chad chaim charles chester chet christer christof christofer
christoffer christoph christophe christopher christos cian ciaran cillian ciro claudio claus clayton clemens clifford
clifton clint clinton clive coen cole colin colm colton conan connor conor conrad constantin corbin cormac cornel
cornelis corrado corwin cosimo craig crispin cristian cristiano cristobal cristopher csaba curtis cyril dalibor dalton
damian damiano damien damir damon danial daniel danijel danilo dante danyal daoud daren darius dariusz darko darrel
darrell darren darrin darwin dave david davide davin davy dawid dawson dean declan dejan demetrios demetrius demian
denis dennis denzel dereck derek derick dermot derrick desmond dexter dhruv dick didier diego dieter dietmar dietrich
dillon dimitar dimitri dimitrios dino diogo dirk dixon djamel dmitri dmitry dogan domenic dominic dominick dominik don
donal donald donat donato donovan douglas dov dragan drago drake driss duane dudley duncan dusan dustin dwain dwayne
dwight eamon eamonn easton eben eberhard edgar edison edmond edmund edoardo edouard eduard eduardo edvard edvin edward
edwin efraim egon einar eirik eitan ekrem elbert eldon eleazar elias eliel eliezer elijah elio eliseo elliot elliott
elmar elmer eloi elon eloy elroy elton elvis elwin elwood elyas emanuel emeric emil emilian emiliano emilio emin
emmanuel emmet emmett emre endre enes ennio enoch enric enrico enrique enver enzo eoghan eoin ephraim eray erdem erhard
eric erick erik erion erkan ernest ernesto ernie ernst erol errol ervin erwan erwin eryk espen esteban ethan etienne
ettore euan eugen eugene eugenio evan everett evert ewan ewen ezekiel ezio fabian fabien fabio fabrizio fadi fadil
fahad faisal faizan fares farhan farid faris farouk faruk fatih fausto federico feliks felipe felix ferdinand
ferdinando ferenc fergus ferhat fernando fidel filip filipe filippo finn flavio fletcher florent florian florin floyd
forrest fouad franc francesco francisco franciszek franck franco francois franklin franklyn franky frans franz fraser
fred frederic frederick frederico frederik fredric fredrick fredrik fredy friedrich fritz furkan gabor gabriel gaetan
gaetano gareth garret garrett garrick garry garth garvin gary gaspar gaspard gaston gavin gennaro geoff geoffrey georg
georges georgios gerald geraldo gerard gerardo gergely gerhard german gerome geronimo gerrit gerson gheorghe giacomo
gian giancarlo gianfranco gianluca gianni gideon gilbert gilberto giles gilles gino giorgio giovani giovanni giuliano
giulio giuseppe glenn godfrey gokhan gonzalo goran gordon graeme graham grant greg gregg gregor gregorio gregory
griffin grzegorz guido guilherme guillaume guillermo guiseppe gunnar gunter gunther gustav gustave gustavo gyula habib
hadi hagen haider hakan hakeem hakim hal halil halim hamed hamid hamish hamza hamzah hank hannes hans harald hardy hari
haris harlan harold haroon haroun harris harrison harry harun harvey hasan hassan hassen hatim heath hector heiko
heinrich heinz helder helmut hendrik henning henri henrik henrique henry henryk herbert herman hermann herve hicham
hiram hiroshi holger homer horace horacio horatio horst howard hubert hudson hugh hugo humphrey huseyin hussain hussein
huy iain ian ibrahim ibrahima idris idriss ignacio ignatius igor iker ilan ilian ilias ilija ilir ilya ilyas imad
immanuel imran ingo inigo ioan ioannis iosif irfan irvin irving irwin isaac isaak isaiah isak ishak ishaq ishmael
isidore ismael ismail ismet issac issam istvan italo ivan ivano ivar ivo ivor iwan iyad izak jace jacek jackson jacob
jacques jake jakob jakub jalal jamal jameel jamel james jamil janusz jared jarl jarod jaron jaroslav jaroslaw jarrod
jason jasper javier jawad jaxon jay jayson jed jeff jefferson jeffery jeffrey jeffry jens jenson jerald jeremi jeremiah
jeremias jeremie jeremy jeroen jerome jesper jesus jim jimmy jiri joachim joakim joao joaquin jochen joe joel johannes
john johnathan johnathon johnny johny jon jonah jonas jonatan jonathan jonathon jonny jorg jorge jorgen joris jorn
josef josep joseph josh joshua josiah josias josip josua josue jovan jozef jozsef juan judah julian julien julio julius
junaid jurgen justin justus justyn kaan kabir kacper kadir kaiser kaj kaleb kalvin kamal kamil kamran kane kareem karim
karl karlos karsten kaspar kasper kazimierz keane keanu keiran keith kelton kelvin kemal ken kenan kendrick kenji
kenneth kenny kent kenyon kenzo kerem kerim kevan keven kevin khaled khalid khalil kian kieran kieron kilian killian
kingsley kingston kirill kirk kjell klaus knut koby koen kofi konrad konstantin konstantinos kornel krish kristijan
kristjan kristof kristofer kristoffer kristopher krystian krzysztof kurt kurtis kwame lachlan ladislav laith lamine
lancelot larry lars lasse laszlo laurens laurent lauro lawrence layton lazar lazaro leandro leif leland lemuel lenard
lennart leo leon leonard leonardo leonel leonhard leonid leonidas leopold leopoldo leroy lester leszek lev levi levin
levon lewis leyton lincoln lino linus lionel lisandro livio lloyd loic lorenz lorenzo lotfi lothar louis loukas lowell
luc lucas lucian luciano lucien lucio ludovic ludwig luigi luis luiz lukas lukasz luke luqman luther lyndon maarten
maciej mack maddox mads magnus mahdi maher mahir mahmoud mahmut maik majid maksim maksymilian malachi malcolm malcom
malick malik mamadou manfred manolo mansour manuel marc marcel marcelino marcello marcelo marcin marcio marco marcos
marcus marek mariano marino mario marius mariusz mark marko markus marlon marshall martial martin martino martyn marvin
marwan mason massimiliano massimo mate matei matej mateo mateusz matheo matheus mathew mathias mathieu matias mats matt
matteo matthew matthias matthieu mattias matyas maurice mauricio maurizio mauro maverick maximilian maximiliano
maximilien maximillian maximo maximus maxwell mehdi mehmet meir melchior melih melvin melvyn mert mervin mervyn metin
michael michail micheal michelangelo michiel mickael mickel miguel mihael mihai mihail mikael mikail mike mikel mikey
mikhail mikkel mikko miklos mikolaj milo milos milton miquel mirko miro miroslav miroslaw mitchel mitchell mladen
mohamad mohamed mohammad mohammed moise moises montgomery monty morad mordechai moreno moritz morris morten mortimer
morton moses moshe mostafa mouhamed mounir mourad moussa moustapha muhamed muhammad muhammed muhammet murat murray musa
mustafa mustapha myles myron nabil nader naeem nahum naim najib nando napoleon naser nasir nasser natan natanael nathan
nathanael nathaniel nazir neal neil neill nelson nenad nestor neville niall niccolo nicholas nick nicklas niclas
nicolai nicolas nicolo niels nigel nikhil niklas nikolai nikolaos nikolas nikolaus nikolay nikos nils nimrod nizar noah
nolan norbert norman norris noureddine nuno nunzio obed octavio oisin okan olaf oleg oliver olivier olli omar omer
ondrej onur oren orhan orlando orrin orson osama oscar oskar osvaldo oswald othman otto oumar ousmane owain owen ozan
pablo padraig panagiotis paolo pasquale patric patricio patrick patrik patryk paul paulo pavel pawel pedro percy petar
peter petr petrus petter phil philip philipp phillip piero pierre pieter pietro pio piotr pol pranav predrag preston
prosper qasim quentin quinten quintin quinton rachid rafael rafe raffaele rafik ragnar raheem rahim rahul rainer rajan
ralf ralph ramadan ramazan ramiro ramon ramy ramzi randal randall randolph raoul raphael rashad rashid rasmus raul ravi
raymon raymond reginald rehan reid reinhard reinhold renaldo renato renaud renzo reuben reynold rhett rhys riad ricardo
riccardo richard richie richmond rick ricky rico riku rinaldo riyad roald rob robert roberto robinson rocco rock roddy
roderic roderick rodger rodney rodolfo rodolphe rodrigo roel rogelio roger rohit roland rolando rolf rolland romain
romano romeo ron ronald ronaldo ronan roscoe rowland roy royce ruben rudolf rudolph rudy rufus rupert ruslan russell
ryan ryszard saad sachin saeed safwan sahil sajid salah saleem saleh salih salim salman salomon salvador salvatore
sameer samer samet samir samson samuel samuele samy sander sandor sandro sanjay santiago santino santo saul saverio
sayed scot scott seamus sean sebastian sebastiano sebastien sedat sekou selim semih serdar serge sergei sergej sergey
sergio serhat serkan seth severin seymour shahid sharif shaun shayan shimon shiv shlomo shmuel sid siddharth siegfried
sigmund sigurd silas silvano silvester silvio simeon simo simon solomon soren sorin soufiane stanislas stanislav
stanislaw stanley stefan stefano steffen stein sten stepan stephan stephen stevan steve steven stewart stig stuart
sulaiman sulayman suleyman sunil sven sylvain sylvester szymon tadeusz taha tahir takashi talha tamas tamir taner tarek
tarik tariq ted teodor teodoro terence terrance terrence thaddeus theo theodor theodore thiago thibault thibaut thierry
thomas thor thorsten tiago tibor tim timmy timo timon timothee timothy timur tino tito titus tiziano tobias tod todd
tolga tom tomas tomasz tomislav tommaso tommy tor torsten travis trent trevor tristan trond troy tuan tyrell tyron
tyson udo ugo ugur ulf ulrich ulrik umar umberto uriel usman uwe vaclav vadim valdemar valentin valentino valerio vance
vasile vasilios vasily veli vernon vicente victor viggo vikram viktor vince vincent vincenzo virgil vishal vito vitor
vittorio vivek vladimir vladislav volkan volker volodymyr vytautas wade wael waldemar waldo waleed walid wallace walter
walther warner warren wassim wayne wendell werner wesley weston wiktor wilbert wilbur wilfred wilfrid wilfried wilhelm
willard willem william willis wilmer wilson wilton wim winston witold wojciech wolfgang wouter wyatt xander xavier
yaakov yahya yair yakov yakup yann yannis yaseen yasin yasir yasser yassin yassine yassir yazan yazid yehuda yoel yohan
yonathan yosef youcef younes yousef yousif youssef yousuf yunus yuriy yusef yusuf yuvraj yvan zac zach zacharia
zachariah zacharias zacharie zachary zachery zack zackary zahir zaid zain zak zakaria zakariya zaki zander zayd zayn
zbigniew zeeshan zeke zeno zenon ziad ziyad zoltan zoran zsolt
"""

_WOMEN = """
aaliyah abbie abby acacia ada adaline adara adela adelaida adelaide adele adelheid adelia adelina adeline adelle adia
adina aditi adora adriana adrianna adrianne adrienne agata agatha agathe agnes agnese agneta agnieszka ahlam aicha aida
aila aileen aimee aimie aina aine ainhoa aisha aishah aisling aislinn aiyana aiza aja akiko alaina alana alanis alanna
alannah alba alberta albertina albina alda alea aleah alecia aleen aleena alejandra aleksandra alena alesha alesia
alessa alessia aleta alexandra alexandria alexia alexsandra aleyna alia aliah aliana alice alicia alicja alida alina
aline alisa alise alisha alisia alissa alita aliya aliyah aliza allana allegra allyson alma almira alona alondra althea
alvina alya alyce alycia alysa alysha alyssa alyssia amaia amalia amalie amanda amandine amaya amela amelia amelie amie
amina aminah aminata amira amirah amna amra amrita amy ana anabel anabela anabella anabelle anais anamaria anastacia
anastasia anastasija andreea andreia andreina andriana andrina anela aneta anette angela angele angelica angelika
angelina angeline angelique angelita ania anica aniela anika anina anisha anissa anita anitra anja anjali anke ann anna
annabel annabell annabella annabelle annalisa annalise annamaria anne anneke anneli annelies anneliese annelise
annemarie annetta annette anni annick annie annika annmarie anny anouk anthea antje antoinette antonella antonette
antonia antonietta anushka anya aoife apolonia arabella arabelle aretha ariadna ariadne ariana ariane arianna arianne
ariela ariella arielle arina arleen arlene arlette arlinda arwa arwen arzu asha ashleigh ashlyn asiya asli asma asmaa
assunta asta astrid asya athena aude audra audrey augusta augustina aura aurea aurelia aurelie aurora aurore ava aviva
avril awa aya ayana ayanna ayda ayesha ayleen aylin aynur ayse aysel azalea aziza azra babette bahar barbara barbora
barbra basma bea beata beate beatrix beatriz becky belen belinda benedicta benedicte benita bente berenice berit
bernadine bernice berta bertha bess beth bethany betina betsy bettina betty betul bianca bianka bibiana biljana bintou
birgit birgitta blanca blanche bonita bozena brandi breanna breda bree brenda brenna bria briana brianna brianne
bridget brigid brigida brigita brigitta brigitte brita britany britta brittany brittney bronwen bronwyn bruna bryanna
bryony bushra busra caitlin caitlyn calista calla callie callista camelia camellia camila camilla candace candice
candida caprice cara caren cari carina carine carissa carla carlene carlota carlotta carly carmela carmelita carmella
carmen carmina carola carole carolin caroline carolyn carrie caryn carys casandra cassandra cassia cassie cassy
catalina catarina catharina catharine catherina catherine cathleen cathrine cathryn cathy catia catrin catrina catriona
cayla cecelia cecile cecilia cecilie cecily celena celestina celia celina celine ceren chana chanel chanelle chantal
chantel chantelle charissa charleen charline charlize charlotta charlotte charmaine chaya chelsea chelsey chelsie
chelsy cherie cherise cherry cheryl chiara chloe christa christal christel christelle christiana christiane christina
christine chrystal ciara cindy cinzia claire clara clarice clarissa clarisse claudette claudia claudine clea clementina
clementine cleopatra cloe clotilde colette colleen collette constantina constanza consuelo cora coral coralie cordelia
corina corine corinna corinne cornelia corrina corrine cosette crista cristal cristiana cristina cristine cynthia dafne
dagmar dahlia daina daisy dalia dalila damaris damla danae dania danica daniela daniella danielle danijela danika
danuta daphne daria darina darja darla darlene darya dasha davida davina dayana deana deanna deanne debbie debby debora
deborah debra deena defne deirdre delfina delia delila delilah delina della delphine demetra dena denisa denise denyse
desiree despina diana diandra diane dianna dianne dijana dilara dilek dina dinah dionne divina divya djamila dolores
domenica dominica dominika dona donata donatella donia donna donya dora dorcas doreen dorina doris dorota dorotea
dorothea dorothee dorothy dounia dulce dulcie dunia ebba ebru ece eda edda edina edita edith edna edwina effie egle
eila eileen eilidh eira ekaterina ela elaina elaine elana elba elda elea eleana eleanor eleanora elen elena elene eleni
elenor eleonora eleonore elfriede eliana eliane elianna elicia elida elif elina eline elinor elinore elisa elisabet
elisabeth elisabetta elise elisheva elissa eliza elizabet elizabeta elizabeth elizaveta elke ella ellen ellena elli
ellie ellyn elma elmira elna elodie eloisa eloise elona elora elouise elsa else elsie elspeth elva elvina elvira elyse
elysia elyssa elzbieta ema emanuela emeline emely emese emie emiko emilee emilia emiliana emilie emilija emily emina
emine emma emmanuella emmanuelle emme emmeline emmi emmie emy ena enya erica ericka erika erina erinn erma erna
ernestina ernestine eryn esha esma esmee esmeralda esperanza essie estela estella estelle ester esther estrella eszter
ethel etta eugenia eugenie eva evangelina evangeline evelin evelina eveline evelyne evgenia evi evie evita evy ewa
ewelina ezgi fabiana fabienne fabiola faiza fannie farida farrah fatiha fatima fatimah fatime fatma fatou fatoumata
federica felicia felicity felisa fernanda filippa filiz filomena fiona fiorella flavia fleur florencia florentina
florie florina florinda franca francesca francine francisca francoise freda frederica freida freja freya freyja frida
frieda gabriela gabriella gabrielle gaelle gaia gala galina gamze gema gemma genevieve genna georgette georgiana
georgina geraldine gerda gertrud gertrude ghislaine giada gianna gilda gina ginette ginny giorgia giovanna gisela
gisele gisella giselle giulia giuliana giuseppina gizem gladys glenda gloria glynis golda gordana gracie graciela
grainne grazia graziella greta grete gretel gretta griselda gudrun gwendoline gwendolyn gwyneth habiba hafsa hala
halima halina hallie hana hanae hania hannah hanne hannelore harriett hasna hatice hava hawa haya haylee hayley haylie
hazal hazel heather heba hedda hedwig heide heidi heidy helen helena helene helga helin helina hellen heloise henna
henrietta henriette hermina hermine hester hiba hilda hilde hollie houda huda ida ieva ilana ilaria ileana ilena ilene
iliana ilona ilse imelda imogen ina inara inaya indira ines inez ingeborg inger ingrid inka inna ioana iola ipek iqra
irena irene irina iris irma iryna isabel isabela isabell isabella isabelle isadora isha isobel israa iva ivana ivanka
ivanna ivonne iwona izabel izabela izabella jaana jacinta jacklyn jaclyn jacqueline jacquelyn jada jamila jana janelle
janessa janet janette janice janie janina janine janita janna jannah jannat jannet jarmila jasleen jasmina jasmine
jasna jayda jayne jazmin jazmine jeane jeanette jeanie jeanine jeanna jeanne jeannette jeannie jeannine jelena jemima
jemina jemma jeni jenifer jeniffer jenna jennah jennie jennifer jenny jesica jessa jessica jessika jimena joana joane
joanie joanna joanne jocelyne joelle johana johanna johannah johanne jolanda jolanta joleen jolene jolie jonna jordana
josefina josefine josephina josephine josette josiane jovana jovita juana judie judit judith julia juliana juliane
julianna julianne julie julienne juliet julieta juliette julija juline julita justina justine justyna jutta kacie kady
kaela kaia kaija kailey kaitlyn kaja kaley kalina kamila kamilla kaori karena karima karin karina karine karissa karla
karlie karmen karolina karoline karyn kasandra kassandra katalin katalina katarina katarzyna kate katelin katelyn
katerina kateryna katharina katharine katherina katherine katheryn kathie kathleen kathlyn kathrin kathrine kathryn
kathy kati katia katie katina katja katlin katlyn katrin katrina katrine katy katya kaycee kayla kaylee kayleigh kaylie
keana keiko keila keira keisha kelli kellie kendra kenza keren kerrie kerstin keshia keyla kezia khadija khadijah khloe
kiana kiara kiera kimberley kinga kirsti kirstie kirstin kirsty klara klarissa klaudia kloe korina kornelia krista
kristal kristel kristi kristiana kristie kristin kristina kristine kristy krysta krystal krystina krystyna ksenia
ksenija kubra kyara kyla kylie kyra laetitia laia laila laina lamia lamya lana lani lara larisa larissa latifa latisha
latoya laura laure laureen laurene lauretta laurette laurianne laurine lauryn lavina lavinia laya layla lea leah leana
leandra leane leann leanna leanne leda leeann leeanne leela leena leia leila leilah lejla lelia lena lene lenka lenora
lenore leona leonarda leonie leonora leonore lesia leticia letitia letizia lexi lexie leya lia liah liana liane lianna
lianne lidia lidija lieselotte liesl liisa lila lilah lilia liliana liliane lilianna lilie lilith lilla lilli lillie
lilly lily lilya lilyana linda line linette linnea linsey liora lisa lisbeth lise lisette lissa lita liv liyana liz
liza lizbeth lizette lizzie ljiljana lola lolita lona lora loraine loredana loreen lorelei lorena lorene loreta loretta
lorette lori lorie lorina lorine lorna lorraine lotta lotte lotti lottie louella louisa louise luana luanne luci lucia
luciana lucie lucienne lucille lucina lucinda lucy ludmila luella luisa luise luiza lula luna lya lydia lydie lyla
lynda lyndsey lyne lynette lynne lynsey lyra mabel maddalena maddie madelaine madeleine madelene madeline madge maelle
maeva maeve mafalda magali magalie magda magdalena magdalene maggie maha maia maida maija maila maira maire mairead
maisa maisha maisie maisy maite maiya maja majda malaika malena malgorzata maliha malika malina malinda malissa malka
mamie manal manda mandy manon manuela manuella marah marcela marcelina marcella marcia marcie marcy maren margaret
margareta margarete margareth margaretha margarida margarita margaux margery margherita margie margit margot margret
marguerite mariah mariam mariama mariana mariane mariann marianna marianne maribel marica marieke mariela mariella
marielle mariette marija marijana marika mariko marilena marilou marilyn mariola marisa marise marisol marissa marit
marita maritza mariya marja marjorie marketa marla marlee marlena marlene marlie marlies marni marnie marry marsha
marta martha martina martyna marwa mary marya maryam maryann maryanne marylin marylou maryse matea mathilda mathilde
matilda matilde maud maude maura maureen mavis maxine maya mayra mea meagan medina meena meera meg megan meghan meghann
meike melani melania melanie melany melba melda melia melike melina melinda melisa melissa melita mellisa mellissa
melodi melodie melonie melva meri meriam meriem merissa merita meta mette mia micaela michaela michela micheline
michelle mihaela mikaela mikayla mila milada milagros milana milda mildred milena milica milka milla millie milly mimi
mindy minerva minna minnie mira miranda mireille mirela mirella mireya miriam mirjam mirjana mirka mirna miryam mitzi
miya moira mollie molly mona monia monica monika monique montserrat morena morgane moriah mouna mounia murielle myla
mylene myra myriam myrna nabila nada nadia nadine nadira nadiya nadja nadya nahla naia naila naima naira najat najma
najwa nancy nanette naomi naomie natacha natalia natalie natalija nataliya nataly natalya natasa natascha natasha
nathalia nathalie nawal naya nayla nazli nea neda neela neha neila nela nelia nella nelli nellie nelly nena nerea
nerissa nessa netta nettie nia niamh nicole nicoleta nicoletta nicolette nicolina nicolle nikole nikoletta nikolina
nilda nina nisa nisha nita noela noelia noella noelle noemi noemie nola nona noora nora norah noreen norina norma noura
nuala nuria nyah nyla oceane octavia odessa odette odile ofelia oksana olena olga olivia oliwia ona oona ophelia oriana
ornella otilia ottilie oxana ozge ozlem palmira paloma pamela pandora paola patricia patrizia patrycja patti paula
paulette paulina pauline pavlina pearl peggy penelope perla pernille petra phebe philippa philomena phoebe phyllis pia
pierrette pinar piper pippa pixie polina polly pooja portia princess prisca priscilla priya priyanka queenie rachael
racheal rachel rachele rachelle rafaela raffaela raffaella rahel rahma raina raisa raissa rakel ramona randa rania
ranya raphaela raphaelle raquel rashida raya rayna rebecca rebecka rebeka rebekah rebekka reem reema reena regina
regine reina reka rena renata renate reyna rhea rhianna rhiannon rhoda rhona rhonda ria riana richelle rima rina risa
rita rivka riya roberta rochelle roisin romana romina romy ronda ronja rosa rosalba rosaleen rosalia rosalie rosalina
rosalind rosalinda rosaline rosalyn rosana rosanne rosaria roseanne roseline rosella roselyn rosemarie rosemary rosetta
rosie rosina rosita roslyn rosmarie rossana rosy rowena roxana roxane roxanna roxanne roya roza rubie runa rut ruta
ruth saara sabina sabine sabrina sade sadia sadie safia safiya sahar sahra saida saima saira sakina saliha salima
salina sally salma salome salwa samanta samantha samara samia samira samiya sanaa sandie sandra sandrine sanela sania
saniya santina saoirse sara sarah sarai sarita saskia savanna scarlett seana seema selena selene selin selina seline
selma sema serafina serena serina sevda severine shaila shaima shaina shakira shana shanel shania shanice shanna
shannen shara shari sharleen shauna shawna shayla shayna sheena sheila shelly sheree shereen sheri sherilyn sherri
sherry sheryl shira shirin shivani shona shoshana siana sidra sienna signe sigrid sigrun siham silke silvana silvia
simona sindy sinead sinem siobhan slavica snezana sofi sofia sofie sofija solange solveig sona sonia sonja sonya sophia
sophie souad staci stacie stefani stefanie stefany steffanie steffi stella stephania stephanie stephany stina stine
sumaya susan susana susann susanna susannah susanne susie susy suzan suzana suzanna suzannah suzanne suzette suzie suzy
svea svenja svetlana svitlana sybil sybille syeda sylvana sylvia sylvie sylwia tabatha tabitha tahira taina talia
talitha tallulah talya tamara tamera tamia tamika tammie tania tanisha tanja tanya tara tarah taryn tasha tasia tasneem
tasnim tatiana tatjana tatyana tayla teodora teresa terese teresita tereza tess tessa tessie thais thalia thea thelma
theodora theresa therese theresia thora thuy tia tianna tiara tilda tillie tilly tina tisha tiziana tonia tonya tova
tove tricia trina trish trisha trude trudi trudy tyra ulla ulrika ulrike una ursula urszula ute vaida valencia
valentina valeria valerie valerija vanda vanesa vanessa vania vasiliki veda velma venessa vera verena verna veronica
veronika veronique vesna vibeke vicki vickie vicky vida viktoria viktorija vilma vina vincenza viola violet violeta
violetta violette virginie vittoria viviana viviane vivianne vivienne wafa wanda wendi wendy weronika wiktoria
wilhelmina willa wilma winifred winona xena xenia ximena xiomara yara yasemin yasmeen yasmin yasmina yasmine yelena
ylva yolanda yolande yousra yulia yuliya yumi yuna yusra yvette yvonne zahara zahira zahra zahraa zaida zaina zainab
zaira zakia zandra zara zarah zaria zaynab zehra zeinab zelda zelia zeliha zena zenia zeynep zina zita ziva zoe zoey
zofia zohra zora zoya zsuzsanna zuzana zuzanna
"""

MEN = frozenset(_MEN.split())
WOMEN = frozenset(_WOMEN.split())
